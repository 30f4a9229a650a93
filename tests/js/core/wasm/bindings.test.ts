import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as glue from '#glue';

/** The functions of the glue and the methods of its classes, by name. */
function functionsOf(exported: object): [string, { readonly length: number }][] {
  return Object.entries(exported).flatMap(([name, value]: [string, unknown]) => {
    if (typeof value !== 'function') return [];
    const members = [value, value.prototype as unknown].flatMap((owner): [string, unknown][] => {
      return Object.entries(Object.getOwnPropertyDescriptors(owner ?? {})).map(
        ([member, { value }]) => [`${name}.${member}`, value],
      );
    });
    const methods = members.filter(([, member]) => typeof member === 'function');
    return [[name, value], ...(methods as [string, { readonly length: number }][])];
  });
}

describe('The bindings of the wasm', () => {
  const functions = functionsOf(glue);

  it('have the verbs as methods', () => {
    const names = functions.map(([name]) => name);
    for (const name of ['WasmStorage.create', 'WasmStorage.append', 'DrivenWrite.decide']) {
      assert.ok(names.includes(name), name);
    }
  });

  it('take at most five arguments', () => {
    const long = functions.filter(([, { length }]) => length > 5).map(([name]) => name);
    assert.deepEqual(long, []);
  });
});
