import type { Write } from '../../js/core/write.js';
import { describe, is, it } from './expect.js';

/** A write without the events of a rewind, which are JSON by their own type. */
type OwnWrite = Exclude<Write, { readonly kind: 'rewind' }>;

/** The places of functions in a type. */
type FunctionsIn<T, Path extends string = ''> = T extends (...given: never[]) => unknown
  ? Path
  : T extends readonly (infer Item)[]
    ? FunctionsIn<Item, Path>
    : T extends object
      ? { [Name in keyof T & string]: FunctionsIn<T[Name], `${Path}.${Name}`> }[keyof T & string]
      : never;

describe('A write', () => {
  it('is JSON, but for the function of `updateState`', () => {
    is<'.compute' | '.delta'>()({} as Exclude<FunctionsIn<OwnWrite>, undefined>);
  });

  it('carries the texts of events, and no object of the caller', () => {
    type Member = keyof Extract<Write, { readonly kind: 'append' }>['events'][number];
    is<'id' | 'timestamp' | 'text' | 'whole' | 'mayBeMarker' | 'deltaText'>()({} as Member);
  });
});
