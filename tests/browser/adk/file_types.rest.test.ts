// The types that browsers give to chosen files by the endings of their names, and what the model of a Runner gets of them.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

import { modelTypeOf } from '../../../js/service/adk/model_types.js';
import { BROWSERS } from '../browser.js';
import { inTabs } from '../in_tabs.js';
import { opened } from '../opened.js';
import { serveModule } from '../server.js';

/** Endings of files that models take, with each type that they get for one. A browser may know none of an ending. */
const TAKEN: Readonly<Record<string, readonly string[]>> = {
  png: ['image/png'],
  jpg: ['image/jpeg'],
  jpeg: ['image/jpeg'],
  webp: ['image/webp'],
  heic: ['image/heic', 'image/heif'],
  heif: ['image/heif'],
  wav: ['audio/wav'],
  mp3: ['audio/mpeg', 'audio/mp3'],
  aac: ['audio/aac'],
  ogg: ['audio/ogg'],
  oga: ['audio/ogg'],
  opus: ['audio/ogg', 'audio/opus'],
  flac: ['audio/flac'],
  aiff: ['audio/aiff'],
  m4a: ['audio/mp4', 'audio/m4a'],
  weba: ['audio/webm'],
  mp4: ['video/mp4'],
  m4v: ['video/mp4'],
  mpeg: ['video/mpeg'],
  mpg: ['video/mpeg'],
  mov: ['video/mov'],
  avi: ['video/avi'],
  flv: ['video/x-flv'],
  webm: ['video/webm'],
  wmv: ['video/wmv'],
  '3gp': ['video/3gpp'],
  pdf: ['application/pdf'],
};

/** Endings of files that models refuse as bytes. */
const REFUSED =
  'svg gif tif tiff bmp ico psd mid midi amr wma mkv ogv txt csv md html css js json xml py rs ts tsx zip gz docx xlsx epub';

const ENDINGS = [...Object.keys(TAKEN), ...REFUSED.split(' ')];

describe('The types of chosen files', () => {
  let folder: string;
  let paths: string[];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'chosen-'));
    paths = ENDINGS.map((ending) => join(folder, `file.${ending}`));
    for (const path of paths) await writeFile(path, 'x');
  });
  after(() => rm(folder, { recursive: true }));

  for (const name of BROWSERS) {
    describe(`in ${name}`, () => {
      const site = opened(name, () =>
        serveModule(`document.body.innerHTML = '<input type="file" multiple>';`),
      );

      it('are in the table of types for models if models take them, and else are not', async (t) => {
        await inTabs(site.browser, [`${site.site.origin}/`], async ([tab]) => {
          await tab!.chooseFiles(paths);
          const types = await tab!.evaluate<string[]>(
            "[...document.querySelector('input').files].map(({ type }) => type)",
          );
          assert.equal(types.length, ENDINGS.length);
          t.diagnostic(ENDINGS.map((ending, at) => `.${ending}: ${types[at]}`).join(', '));
          for (const [at, ending] of ENDINGS.entries()) {
            const [type, taken] = [types[at]!, TAKEN[ending] ?? []];
            const sent = modelTypeOf(type);
            const isKnown = taken.length > 0 && type !== '';
            if (isKnown) assert.ok(taken.includes(sent ?? ''), `.${ending} is ${type}`);
            else assert.equal(sent, undefined, `.${ending} is ${type}`);
          }
        });
      });
    });
  }
});
