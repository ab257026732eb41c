import { button, field, form, h } from "../dom.js";
import { format, parse } from "../ether.js";
import { go } from "../route.js";
import { ask } from "../worker.js";

export function send(state, memory, redraw) {
  const recipient = h("input", { testid: "send-recipient", placeholder: "0x…", autocomplete: "off" });
  const amount = h("input", { testid: "send-amount", inputMode: "decimal", autocomplete: "off" });
  const isAddress = () => /^0x[0-9a-fA-F]{40}$/.test(recipient.value.trim());
  const isAmount = () => BigInt(parse(amount.value) ?? 0) > 0n;
  const propose = async () => {
    const value = parse(amount.value);
    const balance = await ask("balance");
    if (BigInt(value) > BigInt(balance)) {
      memory.error = `You have ${format(balance, state.network.currency)} only`;
      redraw();
      return;
    }
    go(`confirm-transaction/${await ask("send", { to: recipient.value.trim(), value })}`);
  };
  return h(
    "main",
    { testid: "send-page" },
    h("h1", {}, "Send"),
    form(
      {
        submit: { testid: "send-continue", name: "Continue" },
        isValid: () => isAddress() && isAmount(),
        onsubmit: propose,
        error: memory.error,
      },
      field("Recipient", recipient),
      field(`Amount in ${state.network.currency}`, amount),
    ),
    button("send-cancel", "Cancel", () => go("")),
  );
}
