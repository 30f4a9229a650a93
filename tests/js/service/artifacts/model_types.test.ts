// The types that models take, by the names that programs and browsers give them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { modelTypeOf } from '../../../../js/service/adk/model_types.js';

describe('A type for models', () => {
  it('is its essence', () => {
    assert.equal(modelTypeOf(' Image/PNG ; a=b'), 'image/png');
    assert.equal(modelTypeOf('audio/webm;codecs=opus'), 'audio/webm');
    assert.equal(modelTypeOf('audio/mp4'), 'audio/mp4');
  });

  it('has the name that models know', () => {
    const names = [
      ['image/jpg', 'image/jpeg'],
      ['video/quicktime', 'video/mov'],
      ['video/x-msvideo', 'video/avi'],
      ['video/x-ms-wmv', 'video/wmv'],
      ['video/x-flv', 'video/x-flv'],
      ['audio/x-aiff', 'audio/aiff'],
      ['audio/x-m4a', 'audio/m4a'],
      ['audio/x-wav', 'audio/wav'],
      ['audio/x-aac', 'audio/aac'],
      ['application/ogg', 'audio/ogg'],
    ] as const;
    for (const [given, sent] of names) assert.equal(modelTypeOf(`${given};a=b`), sent);
  });

  it('of raw samples has their rate', () => {
    assert.equal(modelTypeOf('Audio/L16;rate=16000'), 'audio/l16;rate=16000');
    assert.equal(modelTypeOf('audio/l16'), 'audio/l16');
  });

  it('is none if models refuse it', () => {
    const pictures = ['image/svg+xml', 'image/gif', 'image/tiff', 'image/bmp', 'image/x-icon'];
    const others = ['audio/midi', 'video/mp2t', 'video/x-matroska', 'application/zip', 'text/html'];
    const odd = ['', 'image/*', 'image/png,image/gif', '__proto__', 'constructor/x', 'toString'];
    for (const type of [undefined, ...pictures, ...others, ...odd]) {
      assert.equal(modelTypeOf(type), undefined);
    }
  });
});
