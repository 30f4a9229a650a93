// A page reports the result of its work to a test by the promise in `globalThis.report`.

import assert from 'node:assert/strict';

/** Three browsers on a busy machine: none of them is quick. */
export const PATIENCE = 120_000;

/** The outcome of a page's `report`: its value, or its error. */
export interface Report<T> {
  value?: T;
  error?: { name: string; message: string; code?: string };
}

/** The value; a report that is an error fails the test. */
export function valueOf<T>({ value, error }: Report<T>): T {
  const { name, message, code } = error ?? {};
  assert.equal(error, undefined, `the page failed: ${name} ${code ?? ''} ${message}`);
  return value as T;
}

const FAILED = `const failed = (error) => ({
    error: { name: String(error?.name), message: String(error?.message ?? error), code: error?.code },
  });`;

/** A script for the page that waits for the promise of an expression. */
export function evaluation(expression: string): string {
  return `
  const [done] = arguments;
  ${FAILED}
  Promise.resolve().then(() => ${expression}).then((value) => done({ value }), (error) => done(failed(error)));`;
}

/** Runs in the page. Modules run late, and one that does not load leaves no report, but `loadError` of package_page.ts. */
export const WAIT_FOR_REPORT = `
  const [patience, done] = arguments;
  ${FAILED}
  const late = setTimeout(() => done(failed(new Error('the page reported nothing'))), patience);
  const settle = (report) => (clearTimeout(late), done(report));
  const wait = () => {
    const { report, loadError } = globalThis;
    if (report === undefined && loadError !== undefined) return settle(failed(new Error(loadError)));
    if (report === undefined) return setTimeout(wait, 20);
    report.then((value) => settle({ value }), (error) => settle(failed(error)));
  };
  wait();`;
