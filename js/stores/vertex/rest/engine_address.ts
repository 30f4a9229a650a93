import { kindOf } from '../../../values/errors/describe.js';
import { invalid, invalidValue } from '../../../values/errors/invalid.js';
/**
 * Finds the agent engine and the server URL of an app's sessions.
 *
 * Options take precedence over the environment. In the environment, a project takes precedence over a key.
 * Google's own client for Python does the same.
 */

/** The service options that name the engine. */
export interface EngineOptions {
  readonly projectId?: string | undefined;
  readonly location?: string | undefined;
  readonly agentEngineId?: string | undefined;
  readonly expressModeApiKey?: string | undefined;
  readonly baseUrl?: string | undefined;
  /** If a token is given, the key in the environment is not used. */
  readonly accessToken?: unknown;
}

/** The address of an engine. */
export interface EngineAddress {
  /** The server's URL up to the API version, without a trailing slash. */
  readonly url: string;
  /** The engine's resource name; in express mode without a project and location. */
  readonly engine: string;
}

const API_VERSION = 'v1beta1';
const ENGINE_NAME = /^projects\/([\w-]+)\/locations\/([\w-]+)\/reasoningEngines\/(\d+)$/;
const ENGINE_NUMBER = /^\d+$/;
/** A project or a location. A segment of dots alone would lead elsewhere in a URL's path. */
const PATH_SEGMENT = /^(?!\.+$)[\w.:-]+$/;

interface ParsedEngine {
  readonly id: string;
  readonly project: string | undefined;
  readonly location: string | undefined;
}

/** Finds the engine of each app. */
export class EngineAddresses {
  /** The key of express mode, if that mode is used. */
  readonly apiKey: string | undefined;
  readonly #options: EngineOptions;
  readonly #engine: ParsedEngine | undefined;
  readonly #addresses = new Map<string, EngineAddress>();

  /** @throws SessionError `invalid_argument` */
  constructor(options: EngineOptions) {
    for (const key of ['projectId', 'location', 'agentEngineId', 'expressModeApiKey'] as const) {
      requireText(key, options[key]);
    }
    const { projectId, location, agentEngineId, expressModeApiKey, baseUrl } = options;
    for (const [key, segment] of Object.entries({ projectId, location })) {
      if (segment !== undefined) requirePathSegment(key, segment);
      if (segment !== undefined && expressModeApiKey !== undefined) {
        throw invalid(key, 'cannot be given together with expressModeApiKey; use only one of them');
      }
    }
    if (baseUrl !== undefined && !isHttp(baseUrl)) {
      throw invalid(
        'baseUrl',
        'must be an http: or https: URL without user, password, query and fragment',
      );
    }
    this.#options = options;
    this.#engine =
      agentEngineId === undefined ? undefined : parseEngine('agentEngineId', agentEngineId);
    const project = this.#engine?.project;
    if (project !== undefined && expressModeApiKey !== undefined) {
      throw invalid(
        'agentEngineId',
        'names a project, which express mode does not have; give only its number',
      );
    }
    const isInProject = [projectId, location, project].some((segment) => segment !== undefined);
    const readsKeyFromEnvironment = !isInProject && options.accessToken === undefined;
    this.apiKey =
      expressModeApiKey ?? (readsKeyFromEnvironment ? apiKeyFromEnvironment() : undefined);
  }

  /** Whether one engine is given for all apps. */
  get isFixed(): boolean {
    return this.#engine !== undefined;
  }

  /**
   * Returns the address of an app's engine.
   *
   * @throws SessionError `invalid_argument` if the app names no engine, or if its project or location is
   *   unknown
   */
  addressOf(appName: string): EngineAddress {
    let address = this.#addresses.get(appName);
    if (address === undefined) {
      address = this.#resolve(this.#engine ?? parseEngine('appName', appName));
      this.#addresses.set(appName, address);
    }
    return address;
  }

  #resolve({ id, project: engineProject, location: engineLocation }: ParsedEngine): EngineAddress {
    const { projectId, location: optionLocation, baseUrl } = this.#options;
    if (this.apiKey !== undefined && engineProject === undefined) {
      return { url: serverUrl(baseUrl, undefined), engine: `reasoningEngines/${id}` };
    }
    requireSame('projectId', projectId, engineProject);
    requireSame('location', optionLocation, engineLocation);
    const project = engineProject ?? projectId ?? environmentVariable('GOOGLE_CLOUD_PROJECT');
    const location =
      engineLocation ?? optionLocation ?? environmentVariable('GOOGLE_CLOUD_LOCATION');
    if (project === undefined) {
      throw missingOption('projectId', 'GOOGLE_CLOUD_PROJECT');
    }
    if (location === undefined) {
      throw missingOption('location', 'GOOGLE_CLOUD_LOCATION');
    }
    requirePathSegment('GOOGLE_CLOUD_PROJECT', project);
    requirePathSegment('GOOGLE_CLOUD_LOCATION', location);
    const engine = `projects/${project}/locations/${location}/reasoningEngines/${id}`;
    return { url: serverUrl(baseUrl, location), engine };
  }
}

/** Returns whether the text is an engine's number or full name. */
export function isEngineName(name: string): boolean {
  return ENGINE_NUMBER.test(name) || ENGINE_NAME.test(name);
}

function parseEngine(key: string, name: string): ParsedEngine {
  if (ENGINE_NUMBER.test(name)) return { id: name, project: undefined, location: undefined };
  const [, project, location, id] = ENGINE_NAME.exec(name) ?? [];
  if (id !== undefined) return { id, project, location };
  throw invalidValue(
    key,
    'must name an agent engine: its number, or projects/PROJECT/locations/LOCATION/reasoningEngines/NUMBER' +
      (key === 'appName' ? '; or set the option agentEngineId, which allows any app name' : ''),
    name,
  );
}

/** Returns the server's URL. The multi-regions `us` and `eu` have hosts of another form. */
function serverUrl(baseUrl: string | undefined, location: string | undefined): string {
  if (baseUrl !== undefined) return `${baseUrl.replace(/\/+$/, '')}/${API_VERSION}`;
  const host =
    location === undefined || location === 'global'
      ? 'aiplatform.googleapis.com'
      : location === 'us' || location === 'eu'
        ? `aiplatform.${location}.rep.googleapis.com`
        : `${location}-aiplatform.googleapis.com`;
  return `https://${host}/${API_VERSION}`;
}

/** Whether paths can be appended to the URL. Behind a query they would be a part of it. */
function isHttp(url: unknown): boolean {
  if (typeof url !== 'string' || /[?#]/.test(url)) return false;
  try {
    const { protocol, username, password } = new URL(url);
    return /^https?:$/.test(protocol) && username === '' && password === '';
  } catch {
    return false;
  }
}

function requireText(key: string, value: unknown): void {
  if (value === undefined || (typeof value === 'string' && value !== '')) return;
  throw invalid(key, `must be text; it is ${value === '' ? 'empty' : kindOf(value)}`);
}

function requirePathSegment(key: string, segment: string): void {
  if (!PATH_SEGMENT.test(segment))
    throw invalidValue(
      key,
      'must consist of letters, digits and "-_.:", and not only of dots',
      segment,
    );
}

/** The engine's full name contains the project and location, so a different value in the options is a mistake. */
function requireSame(key: string, given: string | undefined, own: string | undefined): void {
  if (given === undefined || own === undefined || given === own) return;
  throw invalidValue(key, `must be ${own} as in the agent engine's name`, given);
}

function missingOption(key: string, variable: string) {
  return invalid(
    key,
    `must be given as option, as ${variable}, or in the engine's full name; or give an expressModeApiKey`,
  );
}

function apiKeyFromEnvironment(): string | undefined {
  const flag =
    environmentVariable('GOOGLE_GENAI_USE_ENTERPRISE') ??
    environmentVariable('GOOGLE_GENAI_USE_VERTEXAI');
  const isOn = flag !== undefined && ['true', '1'].includes(flag.toLowerCase());
  const isInProject =
    environmentVariable('GOOGLE_CLOUD_PROJECT') !== undefined &&
    environmentVariable('GOOGLE_CLOUD_LOCATION') !== undefined;
  return isOn && !isInProject ? environmentVariable('GOOGLE_API_KEY') : undefined;
}

/**
 * Reads an environment variable. Returns `undefined` if it is empty, or if the environment is missing or not
 * accessible.
 */
function environmentVariable(variable: string): string | undefined {
  try {
    const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
    const value = process?.env?.[variable];
    return value === '' ? undefined : value;
  } catch {
    return undefined;
  }
}
