// In the place of `node:vm`: a page has another realm in a frame.

const frame = document.createElement('iframe');
document.body.append(frame);
const realm = frame.contentWindow as unknown as { eval(script: string): unknown };

/** Runs a script there. */
export function runInNewContext(script: string): unknown {
  return realm.eval(script);
}
