/** Called while the framework loads, for address ranges of its own, which are well-formed. */
export function isIP(address: string): 0 | 4 | 6 {
  if (address.includes(':')) return 6;
  return /^\d+(?:\.\d+){3}$/.test(address) ? 4 : 0;
}
