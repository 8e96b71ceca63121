const DIGITS = [0, 1, 2].map((digits) => new Intl.NumberFormat("en", { maximumFractionDigits: digits }));
const BELOW_ONE = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

// Three digits are enough to compare: 1,234 and 12.3 and 1.23 and 0.123.
export function number(value) {
  if (!Number.isFinite(value)) {
    return "–";
  }
  const size = Math.abs(value);
  const format = size >= 100 ? DIGITS[0] : size >= 10 ? DIGITS[1] : size >= 1 ? DIGITS[2] : BELOW_ONE;
  return format.format(value);
}

export function withUnit(value, unit) {
  return unit ? `${number(value)} ${unit}` : number(value);
}

export function labelled({ label, unit }) {
  return unit ? `${label} (${unit})` : label;
}

// As people say it: 40 s, or 2.5 minutes.
export function roughly(seconds) {
  const minutes = Math.round(seconds / 30) / 2;
  return seconds < 100 ? `${seconds} s` : `${number(minutes)} minutes`;
}
