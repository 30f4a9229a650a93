import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as glue from '#glue';
import * as rulesGlue from '#rules-glue';

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

  it('have the same functions in the build with the rules, without storages', () => {
    const ofRules = new Map(functionsOf(rulesGlue));
    const common = functions.filter(([name]) => !/^(WasmStorage|delete_database)\b/.test(name));
    assert.ok(common.some(([name]) => name === 'DrivenWrite.decide'));
    for (const [name, { length }] of common) assert.equal(ofRules.get(name)?.length, length, name);
    assert.equal('WasmStorage' in rulesGlue, false);
  });

  it('take at most five arguments', () => {
    const long = functions.filter(([, { length }]) => length > 5).map(([name]) => name);
    assert.deepEqual(long, []);
  });
});
