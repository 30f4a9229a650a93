// The replacement of `node:vm` in a page: a frame is another realm.

const frame = document.createElement('iframe');
document.body.append(frame);
const realm = frame.contentWindow as unknown as { eval(script: string): unknown };

/** Runs a script in the frame. */
export function runInNewContext(script: string): unknown {
  return realm.eval(script);
}
