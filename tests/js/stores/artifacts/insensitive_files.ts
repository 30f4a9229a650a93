// A file system that does not tell names apart, as on macOS and Windows, over one that does.

import { readdirSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';

import { type Node, nodeModules } from '../../../../js/stores/artifacts/node_files.js';

/** Returns a form that names share which are the same for the file system. */
type Form = (name: string) => string;

/** As on a usual volume of macOS. Windows knows only the case. */
export const byCaseAndAccents: Form = (name) => name.normalize('NFC').toLowerCase();
/** As on a volume of macOS that knows upper and lower case. */
export const byAccents: Form = (name) => name.normalize('NFC');

/** As HFS+ writes each name. */
export const decomposed: Form = (name) => name.normalize('NFD');

/**
 * Node's modules, for which paths below the root lead to what has a name of the same form.
 *
 * @param written the form in which a name is written; absent: as it is given
 */
export function insensitiveFiles(root: string, form: Form, written: Form = (name) => name): Node {
  const node = nodeModules();
  const found = (path: unknown): string => {
    const given = String(path);
    if (!given.startsWith(root + sep)) return given;
    const parent = found(dirname(given));
    const name = basename(given);
    const names = entriesOf(parent);
    const there =
      names.find((one) => one === name) ?? names.find((one) => form(one) === form(name));
    return join(parent, there ?? written(name));
  };
  const fs = new Proxy(node.fs, {
    get: (target, name: keyof typeof node.fs) => {
      const member = target[name];
      if (typeof member !== 'function') return member;
      const isOfTwo = name === 'rename';
      return (path: unknown, ...rest: unknown[]): unknown => {
        const others = isOfTwo ? rest.map(found) : rest;
        return Reflect.apply(member, target, [found(path), ...others]);
      };
    },
  });
  return { ...node, fs, openAsBlob: (path) => node.openAsBlob(found(path)) };
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
