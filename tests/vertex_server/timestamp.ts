// google.protobuf.Timestamp in JSON: parses RFC 3339 with any offset, and prints Z with 0, 3, 6 or 9 digits. Times are
// nanoseconds, because a client may send more digits than a Date has.

const RFC_3339 = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/i;

/** Nanoseconds since 1970; `undefined` if the text is not a timestamp. */
export function nanosOf(text: string): bigint | undefined {
  const [, seconds, fraction = '', offset = ''] = RFC_3339.exec(text) ?? [];
  const millis = Date.parse(`${seconds}${offset.toUpperCase()}`);
  if (Number.isNaN(millis)) return undefined;
  return BigInt(millis) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
}

export function nanosOfMillis(millis: number): bigint {
  return BigInt(Math.trunc(millis)) * 1_000_000n;
}

export function timestampOf(nanos: bigint): string {
  const billion = 1_000_000_000n;
  const fraction = ((nanos % billion) + billion) % billion;
  const seconds = new Date(Number((nanos - fraction) / 1_000_000n)).toISOString().slice(0, 19);
  const digits = fraction.toString().padStart(9, '0');
  if (fraction === 0n) return `${seconds}Z`;
  return `${seconds}.${digits.replace(/(?:000){1,2}$/, '')}Z`;
}
