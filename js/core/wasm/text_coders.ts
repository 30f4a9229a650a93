/**
 * The coders of UTF-8 for the glue: the host's, or simple ones where the host has none, as in Jest's
 * environment for jsdom.
 */

interface TextDecoding {
  decode(bytes: Uint8Array): string;
}

interface TextEncoding {
  encode(text: string): Uint8Array;
  encodeInto(text: string, view: Uint8Array): { read: number; written: number };
}

export function newTextDecoder(): TextDecoding {
  if (typeof TextDecoder !== 'function') return simpleDecoder;
  return new TextDecoder('utf-8', { ignoreBOM: true });
}

export function textEncoder(): TextEncoding {
  return typeof TextEncoder === 'function' ? new TextEncoder() : simpleEncoder;
}

/** Decodes the wasm's strings, which are always well-formed. */
const simpleDecoder: TextDecoding = {
  decode(bytes) {
    let escaped = '';
    for (const byte of bytes) escaped += `%${byte.toString(16).padStart(2, '0')}`;
    return decodeURIComponent(escaped);
  },
};

/** Encodes lone surrogates as U+FFFD, as hosts do. */
const simpleEncoder: TextEncoding = {
  encode(text) {
    const escaped = encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));
    const codes = escaped.replace(/%../g, (code) =>
      String.fromCharCode(parseInt(code.slice(1), 16)),
    );
    return Uint8Array.from(codes, (byte) => byte.charCodeAt(0));
  },
  encodeInto(text, view) {
    const bytes = simpleEncoder.encode(text);
    // The glue then asks again, with more room.
    if (bytes.length > view.length) return { read: 0, written: 0 };
    view.set(bytes);
    return { read: text.length, written: bytes.length };
  },
};
