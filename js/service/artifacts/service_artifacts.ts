/**
 * The files of a service: `service.artifacts`, and the deletions and forks that include files. It is there at once, and
 * loads the rest when it is first used.
 */
import type { Call } from '../../core/call/call.js';
import { reportUncaught } from '../../core/call/diagnostics.js';
import { untilAborted } from '../../core/call/time_limit.js';
import { loadChunk } from '../../core/wasm/loader/chunk.js';
import type { ReadyWrite, WriteKind } from '../../core/write.js';
import type { ErasedOwner } from '../../stores/artifacts/artifact_home.js';
import { takeFile } from '../../stores/artifacts/given_files.js';
import { invalidValue } from '../../values/errors/invalid.js';
import {
  ARTIFACT_METHODS,
  type ArtifactMethod,
  type ArtifactService,
} from '../../values/model/artifact.js';
import type { ArtifactMethods, Artifacts, FiledCore } from './artifacts.js';
import type { ArtifactsOption, OpenHome } from './homes.js';

/** What a service has for the option `artifacts: true`. */
export interface DefaultArtifacts {
  /** Opens the home beside the sessions. Absent: there is none. */
  readonly openArtifacts?: OpenHome | undefined;
  /** Loads the methods of the server that the sessions are on, which deletes and copies files with them. */
  readonly loadArtifacts?: ((core: FiledCore) => Promise<ArtifactMethods>) | undefined;
}

/** The files of a service that has the option `artifacts`. */
export class ServiceArtifacts {
  readonly service: Required<ArtifactService>;
  readonly #load: () => Promise<ArtifactMethods | Artifacts>;
  readonly #isOfServer: boolean;
  /** Whether the option is `true`. Over memory, the files are then in memory too. */
  readonly #isDefaultHome: boolean;
  #loading: Promise<ArtifactMethods | Artifacts> | undefined;
  #loaded: ArtifactMethods | Artifacts | undefined;

  /** @throws SessionError `invalid_argument` if the option is not valid */
  constructor(
    option: ArtifactsOption,
    { openArtifacts: openHome, loadArtifacts }: DefaultArtifacts,
    core: FiledCore,
  ) {
    this.#isOfServer = option === true && loadArtifacts !== undefined;
    this.#isDefaultHome = option === true;
    if (!this.#isOfServer) requireOption(option, openHome);
    this.#load = async () => {
      if (this.#isOfServer) return loadArtifacts!(core);
      const { openArtifacts } = await loadChunk(() => import('./homes.js'));
      return openArtifacts(option, openHome, core);
    };
    const service: Partial<Record<ArtifactMethod, unknown>> = {};
    for (const method of ARTIFACT_METHODS) {
      service[method] = (request: object) =>
        core.calls.run(method, request, async (request, call) => {
          const taken = takeFile(request);
          const artifacts = await untilAborted(call.signal, this.#open());
          return artifacts[method](taken as never, call);
        });
    }
    this.service = service as Required<ArtifactService>;
  }

  /** Loads the artifacts. Returns `undefined` if they are on a server. */
  async localArtifacts(): Promise<Artifacts | undefined> {
    return this.#isOfServer ? undefined : ((await this.#open()) as Artifacts);
  }

  #open(): Promise<ArtifactMethods | Artifacts> {
    return (this.#loading ??= this.#load().then(
      (artifacts) => (this.#loaded = artifacts),
      (error: unknown) => {
        this.#loading = undefined;
        throw error;
      },
    ));
  }

  /** Stores a deletion or a fork by `work`, with the files. */
  async during<T>(write: ReadyWrite<WriteKind>, call: Call, work: () => Promise<T>): Promise<T> {
    const artifacts = await untilAborted(call.signal, this.localArtifacts());
    return artifacts === undefined ? work() : artifacts.during(write, call, work);
  }

  /** Begins to erase without waiting. Memory has no files until the code is loaded; a folder or a given service may. */
  eraseNow(owner: ErasedOwner): void {
    const loaded = this.#loaded as Artifacts | undefined;
    if (loaded !== undefined) return loaded.eraseNow(owner);
    if (this.#isDefaultHome) return;
    this.#open()
      .then((artifacts) => (artifacts as Artifacts).eraseNow(owner))
      .catch(reportUncaught);
  }

  async close(): Promise<void> {
    const loaded = await this.#loading?.catch(() => undefined);
    if (loaded !== undefined && 'close' in loaded) await loaded.close();
  }
}

function requireOption(option: unknown, openHome: OpenHome | undefined): void {
  if (option === true && openHome !== undefined) return;
  const given = Object(option) as Record<string, unknown>;
  if (typeof given.folder === 'string' && given.folder !== '') return;
  // A service of `@google/adk` has no more.
  if (ARTIFACT_METHODS.slice(0, 7).every((method) => typeof given[method] === 'function')) return;
  const beside = openHome === undefined ? '' : 'true, ';
  throw invalidValue('artifacts', `must be ${beside}{ folder } or an artifact service`, option);
}
