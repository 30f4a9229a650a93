/** Asked while the framework loads, about ranges that it has as text: well-formed ones. */
export function isIP(address: string): 0 | 4 | 6 {
  if (address.includes(':')) return 6;
  return /^\d+(?:\.\d+){3}$/.test(address) ? 4 : 0;
}
