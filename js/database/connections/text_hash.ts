/**
 * Returns a hash of 106 bits in base 36. It gives names that are the same in every program; it is not for
 * secrets.
 */
export function textHash(text: string): string {
  return `${hash53(text, 0)}_${hash53(text, 0x9e3779b9)}`;
}

/** The function cyrb53, which is in the public domain. */
function hash53(text: string, seed: number): string {
  let one = 0xdeadbeef ^ seed;
  let other = 0x41c6ce57 ^ seed;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    one = Math.imul(one ^ unit, 2654435761);
    other = Math.imul(other ^ unit, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(other ^ (other >>> 13), 3266489909);
  other = Math.imul(other ^ (other >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return (4294967296 * (2097151 & other) + (one >>> 0)).toString(36);
}
