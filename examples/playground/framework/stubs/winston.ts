// The framework's logger: its messages go to the page's console.

export function createLogger(): Console {
  return console;
}

const none = (): undefined => undefined;

/** Formats are only for terminals, so they do nothing. */
export const format = Object.assign(() => none, {
  colorize: none,
  combine: none,
  label: none,
  printf: none,
  timestamp: none,
});

export const transports = { Console: class {} };
