// Amounts: wei as hexadecimal texts, ether as people write it.

const WEI = 10n ** 18n;
const DECIMALS = 4;

/** "25 ETH", "24.9999 ETH": never more than there is. */
export function format(wei, currency) {
  const amount = BigInt(wei);
  const fraction = String(amount % WEI).padStart(18, "0").slice(0, DECIMALS).replace(/0+$/, "");
  return `${amount / WEI}${fraction && `.${fraction}`} ${currency}`;
}

/** "0.5" in wei, or undefined if that is no amount. */
export function parse(text) {
  const [, whole, fraction = ""] = /^(\d+)(?:\.(\d{1,18}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined) return undefined;
  return `0x${(BigInt(whole) * WEI + BigInt(fraction.padEnd(18, "0"))).toString(16)}`;
}
