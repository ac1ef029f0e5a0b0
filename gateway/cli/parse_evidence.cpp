#include "gateway/cli/parse_evidence.hpp"

#include <memory>

#include "gateway/cli/parse_parts.hpp"

namespace idem::gateway::cli {

namespace {

struct receipt_words {
    receipt_action made;
    admin_words where;
};

void finish(CLI::App& app, std::shared_ptr<receipt_words> w, action& out, receipt_action::what which) {
    app.callback([w = std::move(w), &out, which] {
        receipt_action a = w->made;
        a.which = which;
        a.where = w->where.flags();
        a.output = w->where.wanted();
        out = std::move(a);
    });
}

void add_key_commands(CLI::App& receipt, action& out) {
    using what = receipt_action::what;
    auto* key = add_command(receipt, "key", "Make a signing key, or print its public half");
    key->require_subcommand(1);
    const auto w = std::make_shared<receipt_words>();
    auto* create =
        add_command(*key, "create", "Write a new Ed25519 key, for the owner's eyes alone; prints the public half");
    create->add_option("file", w->made.file, "Where; must not be there yet")->type_name("FILE")->required();
    finish(*create, w, out, what::create_key);
    auto* show = add_command(*key, "public", "Print the public half of a private key, for those who verify");
    show->add_option("file", w->made.file, "The private key")->type_name("FILE")->required();
    finish(*show, w, out, what::public_key);
}

}  // namespace

void add_receipt(CLI::App& app, action& out) {
    using what = receipt_action::what;
    auto* receipt = add_command(app, "receipt", "Show and verify signed receipts of answers");
    receipt->require_subcommand(1);

    auto w = std::make_shared<receipt_words>();
    auto* show = add_command(*receipt, "show", "Print the receipt of a stored answer, as it was signed");
    show->add_option("key", w->made.file, "Key of the entry (Idem-Key)")->type_name("KEY")->required();
    show->add_option("--fill", w->made.fill, "Of that fill; else the youngest")->type_name("ID");
    add_admin(*show, w->where);
    finish(*show, w, out, what::show);

    constexpr const char* keys =
        "Public keys (PEM, several for a rotation); else public-keys.pem of the data directory";
    w = std::make_shared<receipt_words>();
    auto* verify =
        add_command(*receipt, "verify", "Check a receipt, offline; with --entry also that it is of that answer");
    verify->add_option("file", w->made.file, "The receipt")->type_name("FILE")->required();
    verify->add_option("--public-key", w->made.public_key, keys)->type_name("FILE");
    verify->add_option("--entry", w->made.entry, "The answer, as it was received")->type_name("FILE");
    verify->add_flag("--normalised", w->made.normalised,
                     "The same output is good enough: in another form, or without usage");
    add_data(*verify, w->where);
    finish(*verify, w, out, what::verify);

    w = std::make_shared<receipt_words>();
    auto* audit = add_command(*receipt, "audit", "Check a chain of records against signed heads, offline");
    audit->add_option("file", w->made.file, "The chain")->type_name("FILE")->required();
    audit->add_option("--head", w->made.head, "Signed heads of it, one a line, from where they are kept")
        ->type_name("FILE")
        ->required();
    audit->add_option("--public-key", w->made.public_key, keys)->type_name("FILE");
    add_data(*audit, w->where);
    finish(*audit, w, out, what::audit);

    add_key_commands(*receipt, out);
}

}  // namespace idem::gateway::cli
