import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

import { isSessionError, type MissingVariable } from '../../../../js/values/errors/errors.js';
import type { Part } from '../../../../js/values/model/event/content.js';
import { injectSessionState } from '../../../../js/service/template/template.js';

/** The same file drives the Rust implementation. */
interface Vector {
  name: string;
  template: string;
  state: Record<string, unknown>;
  /** Absent: there is no artifact service. */
  artifacts?: Record<string, { text: string } | { json: Part }>;
  expect?: string;
  error?: string;
  missing?: { name: string; offset16: number }[];
}

const file = new URL('../../../vectors/templates.json', import.meta.url);
const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vector[];

describe('The shared template vectors', () => {
  for (const { name, template, state, artifacts, expect, error, missing } of vectors) {
    it(name, async () => {
      const loadArtifact = (filename: string): Part | undefined => {
        if (artifacts === undefined || !Object.hasOwn(artifacts, filename)) return undefined;
        const artifact = artifacts[filename];
        return artifact !== undefined && 'json' in artifact ? artifact.json : artifact;
      };
      const context = artifacts === undefined ? { state } : { state, loadArtifact };
      if (expect !== undefined) {
        assert.equal(await injectSessionState(template, context), expect);
        return;
      }
      await assert.rejects(injectSessionState(template, context), (thrown) => {
        assert.ok(isSessionError(thrown), String(thrown));
        assert.equal(thrown.code, error);
        assert.deepEqual(
          (thrown.missing as readonly MissingVariable[] | undefined)?.map((found) => ({
            name: found.name,
            offset16: found.offset,
          })),
          missing,
        );
        return true;
      });
    });
  }
});
