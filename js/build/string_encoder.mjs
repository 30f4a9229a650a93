// The glue's encoder of strings. wasm-bindgen's glue copies a string into the wasm one character after
// the other. The host's encoder is several times faster for longer strings.
// `npm run bench -- glue` compares the two.

const LOOP = '    let offset = 0;\n\n    for (; offset < len; offset++) {';

/** Code of the glue that encodes ASCII, if there are more than 32 characters. */
export const HOST_ENCODER = `    if (len > 32) {
        const { read, written } = cachedTextEncoder.encodeInto(arg, mem.subarray(ptr, ptr + len));
        if (read === len) {
            WASM_VECTOR_LEN = written;
            return ptr;
        }
    }

`;

/** Returns the glue with the host's encoder. @param {string} glue */
export function withHostEncoder(glue) {
  if (glue.split(LOOP).length !== 2) throw new Error('the glue passes strings in another way now');
  return glue.replace(LOOP, HOST_ENCODER + LOOP);
}
