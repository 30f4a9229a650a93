/**
 * The files of a service: `service.artifacts`, and the deletions and forks that include files. It is there at once, and
 * loads the rest when it is first used.
 */
import type { Call } from '../../core/call/call.js';
import { untilAborted } from '../../core/call/time_limit.js';
import { loadChunk } from '../../core/wasm/loader/chunk.js';
import type { ReadyWrite, WriteKind } from '../../core/write.js';
import type { ErasedOwner } from '../../stores/artifacts/artifact_home.js';
import { invalidValue } from '../../values/errors/invalid.js';
import type { ArtifactMethod } from '../../values/model/artifact.js';
import type { ArtifactService } from '../invocation/running_invocation.js';
import type { Artifacts, FiledCore } from './artifacts.js';
import type { ArtifactsOption, OpenHome } from './homes.js';

/** All methods of an artifact service. A service of `@google/adk` has the first seven. */
const METHODS: readonly ArtifactMethod[] = [
  'saveArtifact',
  'loadArtifact',
  'listArtifactKeys',
  'deleteArtifact',
  'listVersions',
  'listArtifactVersions',
  'getArtifactVersion',
  'open',
  'put',
  'usage',
];

/** The files of a service that has the option `artifacts`. */
export class ServiceArtifacts {
  readonly service: Required<ArtifactService>;
  readonly #load: () => Promise<Artifacts>;
  #loading: Promise<Artifacts> | undefined;
  #loaded: Artifacts | undefined;

  /**
   * @param openHome opens the home beside the sessions. Absent: there is none
   * @throws SessionError `invalid_argument` if the option is not valid
   */
  constructor(option: ArtifactsOption, openHome: OpenHome | undefined, core: FiledCore) {
    requireOption(option, openHome);
    this.#load = async () => {
      const { openArtifacts } = await loadChunk(() => import('./homes.js'));
      return openArtifacts(option, openHome, core);
    };
    const service: Partial<Record<ArtifactMethod, unknown>> = {};
    for (const method of METHODS) {
      service[method] = (request: object) =>
        core.calls.run(method, request, async (request, call) => {
          const artifacts = await untilAborted(call.signal, this.load());
          return artifacts[method](request as never, call);
        });
    }
    this.service = service as Required<ArtifactService>;
  }

  /** Loads the code, and opens the home. */
  load(): Promise<Artifacts> {
    this.#loading ??= this.#load().then(
      (artifacts) => (this.#loaded = artifacts),
      (error: unknown) => {
        this.#loading = undefined;
        throw error;
      },
    );
    return this.#loading;
  }

  /** Stores a deletion or a fork by `work`, with the files. */
  async during<T>(write: ReadyWrite<WriteKind>, call: Call, work: () => Promise<T>): Promise<T> {
    return (await untilAborted(call.signal, this.load())).during(write, call, work);
  }

  /** Erases at once. Over memory there are no files until the code is loaded. */
  eraseNow(owner: ErasedOwner): void {
    this.#loaded?.eraseNow(owner);
  }

  async close(): Promise<void> {
    await (await this.#loading?.catch(() => undefined))?.close();
  }
}

function requireOption(option: unknown, openHome: OpenHome | undefined): void {
  if (option === true && openHome !== undefined) return;
  const given = Object(option) as Record<string, unknown>;
  if (typeof given.folder === 'string' && given.folder !== '') return;
  // A service of `@google/adk` has no more.
  if (METHODS.slice(0, 7).every((method) => typeof given[method] === 'function')) return;
  const beside = openHome === undefined ? '' : 'true, ';
  throw invalidValue('artifacts', `must be ${beside}{ folder } or an artifact service`, option);
}
