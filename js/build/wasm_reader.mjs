// Bytes of a wasm, read one after the other.

export class Reader {
  /** @param {Buffer} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  /** An unsigned number in LEB128. */
  number() {
    let number = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.bytes.readUInt8(this.at++);
      number |= (byte & 127) << shift;
      if (byte < 128) return number >>> 0;
    }
  }

  /** @param {number} length */
  take(length) {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}
