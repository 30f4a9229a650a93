// The options with which a test runs another file in a new process: compiled if the test is compiled, otherwise through tsx.

/** Node's options. */
export const LOADER = import.meta.resolve('./loader.js').endsWith('.ts')
  ? ['--import', import.meta.resolve('tsx')]
  : [];
