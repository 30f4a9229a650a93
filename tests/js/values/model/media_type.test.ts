// Media types, as a page and a server show them.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import {
  browserType,
  essenceOf,
  isPicture,
  objectUrlType,
  requireType,
} from '../../../../js/values/model/values/media_type.js';
import { failsWith } from '../../fails_with.js';

const BINARY = 'application/octet-stream';

describe('The type for a browser', () => {
  it('has no parameters', () => {
    assert.equal(browserType('video/webm;codecs=vp8,opus'), 'video/webm');
    assert.equal(browserType(' Image/PNG ; a=b'), 'image/png');
    assert.equal(browserType('text/csv;charset=utf-8'), 'text/csv');
  });

  it('keeps the charset of a plain text, if it is one token', () => {
    assert.equal(browserType('text/plain; Charset="UTF-8"; a=b'), 'text/plain;charset=utf-8');
    for (const charset of ['', 'a b', 'utf-8,text/html', '"a,b"', 'é']) {
      assert.equal(browserType(`text/plain;charset=${charset}`), 'text/plain');
    }
  });

  it('of a text that is no type is that of unknown bytes', () => {
    const texts = ['', 'html', 'image/', '/png', 'image/png,text/html', 'ä/b', 'a/b/c', 'a b/c'];
    for (const text of [undefined, ...texts]) assert.equal(browserType(text), BINARY);
  });
});

describe('The type of an object URL', () => {
  it('is that of pictures, sounds, videos, PDFs and plain texts', () => {
    for (const type of ['image/png', 'audio/mpeg', 'video/mp4', 'application/pdf', 'text/plain']) {
      assert.equal(objectUrlType(`${type};a=b`), type);
    }
  });

  it('of a document is that of unknown bytes', () => {
    const documents = ['text/html', 'text/xml', 'application/xhtml+xml', 'multipart/mixed'];
    const drawn = ['image/svg+xml', 'image/svg', 'image/x+xml', 'audio/x+XML', 'video/xml'];
    for (const type of [...documents, ...drawn]) {
      assert.equal(objectUrlType(type), BINARY);
      assert.equal(isPicture(type), false);
    }
  });
});

describe('The essence of a type', () => {
  it('is its type and subtype in lower case', () => {
    assert.equal(essenceOf('Audio/L16;rate=16000'), 'audio/l16');
  });
});

describe('A type to store', () => {
  it('may be any text of 255 bytes without control characters', () => {
    const recorded = ['video/webm;codecs=vp8,opus', 'audio/mp4', 'video/x-matroska;codecs=avc1'];
    for (const type of ['', 'html', 'ä/b', ...recorded, 'ä'.repeat(127)]) requireType('type', type);
  });

  it('is refused with control characters, above 255 bytes, and if it is no text', () => {
    for (const type of [
      'a/b\n',
      'a/b\0',
      'a/b\x7f',
      'a/b\x85',
      'ä'.repeat(128),
      'a'.repeat(256),
      1,
    ]) {
      assert.throws(() => requireType('type', type), failsWith('invalid_argument', /^type /));
    }
  });
});
