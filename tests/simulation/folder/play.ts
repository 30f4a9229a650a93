// Programs that put, delete and are killed over one folder, and what must be true afterwards.

import assert from 'node:assert/strict';

import { coreOf } from '../../../js/core/core_of.js';
import { InMemorySessionService } from '../../../js/index.js';
import { Artifacts } from '../../../js/service/artifacts/artifacts.js';
import type { ServiceCore } from '../../../js/service/service_core.js';
import type * as folderHome from '../../../js/stores/artifacts/folder_home.js';
import { isSessionError } from '../../../js/values/errors/errors.js';
import { newFolder } from '../../new_folder.js';
import { Random } from '../run/random.js';
import { digestAtOnce, Program, Steps } from './stepped_files.js';

const user = { appName: 'shop', userId: 'ada' };
const SESSIONS = ['s1', 's2'];
const NAMES = ['a', 'a/b', 'c'];
const CALLS = 12;

/** The number of the program that deletes and creates the sessions. */
const KEEPER = 0;

/** A put that was acknowledged. */
interface Stored {
  readonly sessionId: string;
  /** Which of the sessions with the id it was: it counts the deletions. */
  readonly life: number;
  readonly filename: string;
  readonly version: number;
  readonly text: string;
  readonly begin: number;
}

/** Each program has a module of its own, as programs share none. */
function moduleOf(program: number): Promise<typeof folderHome> {
  const path = `../../../js/stores/artifacts/folder_home.js?program=${program}`;
  return import(path) as Promise<typeof folderHome>;
}

/** Plays a seed. @throws AssertionError */
export async function play(seed: number): Promise<void> {
  const restore = digestAtOnce();
  try {
    await new World(seed).play();
  } finally {
    restore();
  }
}

class World {
  readonly #random: Random;
  readonly #steps: Steps;
  readonly #folder = newFolder();
  readonly #service = new InMemorySessionService();
  readonly #lives = new Map(SESSIONS.map((sessionId) => [sessionId, 0]));
  readonly #stored: Stored[] = [];
  /** The place, the text and the session's life of each put that was acknowledged. */
  readonly #acknowledged = new Set<string>();
  readonly #texts = new Set<string>();
  /** The deletions of files, which end with the number of steps that had run then. */
  readonly #deletions: { readonly file: string; readonly end: number }[] = [];
  #killCount = 0;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#steps = new Steps(new Random(seed, 'steps'));
  }

  async play(): Promise<void> {
    for (const sessionId of SESSIONS) await this.#service.createSession({ ...user, sessionId });
    const programs = [KEEPER, 1, 2].map((number) => this.#runProgram(number));
    await Promise.all(programs);
    await this.#check();
  }

  /** Runs the calls of a program, and those that are left in another one if it is killed. */
  async #runProgram(number: number): Promise<void> {
    const random = new Random(this.#random.below(2 ** 31), `program ${number}`);
    let left = CALLS;
    while (left > 0) {
      const { artifacts, program } = await this.#open(number);
      const isMortal = random.isLikely(0.4);
      const work = async (): Promise<void> => {
        while (left > 0 && !program.isKilled) {
          left -= 1;
          await (number === KEEPER && random.isLikely(0.5)
            ? this.#replaceSession(artifacts, random)
            : this.#call(artifacts, random));
        }
      };
      // A program has two calls under way, but for the keeper.
      const all = number === KEEPER ? [work()] : [work(), work()];
      if (isMortal) all.push(this.#kill(program, random.below(80)));
      const outcomes = await Promise.allSettled(all);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected' && !program.isKilled) throw outcome.reason;
      }
    }
  }

  async #open(number: number) {
    const { FolderHome } = await moduleOf(number);
    const program = new Program(this.#steps);
    const core = coreOf<ServiceCore>(this.#service as never);
    return { program, artifacts: new Artifacts(new FolderHome(this.#folder, program.node), core) };
  }

  /** Kills a program after a number of steps of all programs. */
  async #kill(program: Program, after: number): Promise<void> {
    const end = this.#steps.count + after;
    for (let idle = 0; this.#steps.count < end && idle < 50;) {
      const { count } = this.#steps;
      await new Promise(setImmediate);
      idle = count === this.#steps.count ? idle + 1 : 0;
    }
    program.isKilled = true;
    this.#killCount += 1;
  }

  /** Deletes a session, and creates another one with its id. */
  async #replaceSession(artifacts: Artifacts, random: Random): Promise<void> {
    const key = { ...user, sessionId: random.pick(SESSIONS) };
    try {
      await artifacts.during({ kind: 'delete', what: 'session', key }, {}, async () => {
        this.#lives.set(key.sessionId, this.#lives.get(key.sessionId)! + 1);
        await this.#service.deleteSession(key);
      });
    } finally {
      await this.#service.getOrCreateSession(key);
    }
  }

  async #call(artifacts: Artifacts, random: Random): Promise<void> {
    const sessionId = random.pick(SESSIONS);
    const filename = random.pick(NAMES);
    const request = { ...user, sessionId, filename };
    const file = `${sessionId}/${filename}`;
    const what = random.weighted({ put: 6, delete: 2, list: 1, versions: 1 });
    if (what === 'list') await artifacts.listArtifactKeys(request, {});
    else if (what === 'versions') await artifacts.listArtifactVersions(request, {});
    else if (what === 'delete') {
      try {
        await artifacts.deleteArtifact(request, {});
      } finally {
        this.#deletions.push({ file, end: this.#steps.count });
      }
    } else await this.#put(artifacts, request);
  }

  async #put(
    artifacts: Artifacts,
    request: typeof user & { sessionId: string; filename: string },
  ): Promise<void> {
    const { sessionId, filename } = request;
    const text = `text ${this.#texts.size}`;
    this.#texts.add(text);
    async function* bytes() {
      yield await Promise.resolve(new TextEncoder().encode(text));
    }
    const begin = this.#steps.count;
    const life = this.#lives.get(sessionId)!;
    try {
      const { version } = await artifacts.put({ ...request, data: bytes() }, {});
      const place = `${sessionId}/${filename}/${version}`;
      this.#acknowledged.add(`${place} ${text} ${this.#lives.get(sessionId)}`);
      this.#stored.push({ sessionId, life, filename, version, text, begin });
    } catch (error) {
      // Its session was deleted meanwhile.
      if (!isSessionError(error, 'not_found')) throw error;
    }
  }

  /** Checks that nothing is lost, doubled, or there in part, and that nothing is there which was deleted. */
  async #check(): Promise<void> {
    const { FolderHome } = await moduleOf(KEEPER);
    const core = coreOf<ServiceCore>(this.#service as never);
    const artifacts = new Artifacts(new FolderHome(this.#folder), core);
    const shown = new Map<string, string>();
    for (const sessionId of SESSIONS) {
      const key = { ...user, sessionId };
      for (const filename of await artifacts.listArtifactKeys(key, {})) {
        for (const version of await artifacts.listVersions({ ...key, filename }, {})) {
          const blob = await artifacts.open({ ...key, filename, version }, {});
          const text = (await blob?.text()) ?? '';
          assert.ok(this.#texts.has(text), `${text} is whole`);
          shown.set(`${sessionId}/${filename}/${version}`, text);
        }
      }
    }
    const expected = new Map<string, string>();
    for (const { sessionId, life, filename, version, text, begin } of this.#stored) {
      const file = `${sessionId}/${filename}`;
      if (life !== this.#lives.get(sessionId)) continue;
      if (this.#deletions.some((one) => one.file === file && one.end > begin)) continue;
      const place = `${file}/${version}`;
      assert.equal(expected.get(place), undefined, `${place} is given once`);
      expected.set(place, text);
      assert.equal(shown.get(place), text, `${place} is there`);
    }
    // A killed program may have stored a file whose put it did not answer.
    if (this.#killCount > 0) return;
    for (const [place, text] of shown) {
      const life = this.#lives.get(place.split('/', 1)[0]!);
      const isKnown = this.#acknowledged.has(`${place} ${text} ${life}`);
      assert.ok(isKnown, `${place} with ${text} was put into this session`);
    }
  }
}
