/**
 * Finds the agent engine and the server URL of an app's sessions.
 *
 * Options take precedence over the environment. In the environment, a project takes precedence over a key.
 * Google's own client for Python does the same.
 */
import { kindOf } from '../../json/rules.js';
import { invalid } from '../../call/call.js';

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

const VERSION = 'v1beta1';
const NAME = /^projects\/([\w-]+)\/locations\/([\w-]+)\/reasoningEngines\/(\d+)$/;
const ID = /^\d+$/;
/** A project or a location. A segment of dots alone would lead elsewhere in a URL's path. */
const PART = /^(?!\.+$)[\w.:-]+$/;

interface Engine {
  readonly id: string;
  readonly project: string | undefined;
  readonly location: string | undefined;
}

/** Finds the engine of each app. */
export class EngineAddresses {
  /** The key of express mode, if that mode is used. */
  readonly apiKey: string | undefined;
  readonly #options: EngineOptions;
  readonly #engine: Engine | undefined;
  readonly #known = new Map<string, EngineAddress>();

  /** @throws SessionError `invalid_argument` */
  constructor(options: EngineOptions) {
    for (const key of ['projectId', 'location', 'agentEngineId', 'expressModeApiKey'] as const) {
      requireText(key, options[key]);
    }
    const { projectId, location, agentEngineId, expressModeApiKey, baseUrl } = options;
    for (const [key, part] of Object.entries({ projectId, location })) {
      if (part !== undefined) requirePart(key, part);
      if (part !== undefined && expressModeApiKey !== undefined) {
        throw invalid(key, 'cannot be given together with expressModeApiKey: use one or the other');
      }
    }
    if (baseUrl !== undefined && !isHttp(baseUrl)) {
      throw invalid('baseUrl', 'must be an http: or https: URL without user and password');
    }
    this.#options = options;
    this.#engine =
      agentEngineId === undefined ? undefined : engineOf('agentEngineId', agentEngineId);
    const project = this.#engine?.project;
    if (project !== undefined && expressModeApiKey !== undefined) {
      throw invalid(
        'agentEngineId',
        'names a project, which an expressModeApiKey has not: give its id',
      );
    }
    const isInProject = [projectId, location, project].some((part) => part !== undefined);
    const asksForKey = !isInProject && options.accessToken === undefined;
    this.apiKey = expressModeApiKey ?? (asksForKey ? keyOfEnvironment() : undefined);
  }

  /**
   * Returns the address of an app's engine.
   *
   * @throws SessionError `invalid_argument` if the app names no engine, or if its project or location is
   *   unknown
   */
  of(appName: string): EngineAddress {
    let address = this.#known.get(appName);
    if (address === undefined) {
      address = this.#find(this.#engine ?? engineOf('appName', appName));
      this.#known.set(appName, address);
    }
    return address;
  }

  #find({ id, project: ownProject, location: ownLocation }: Engine): EngineAddress {
    const { projectId, location: givenLocation, baseUrl } = this.#options;
    if (this.apiKey !== undefined && ownProject === undefined) {
      return { url: urlOf(baseUrl, undefined), engine: `reasoningEngines/${id}` };
    }
    requireSame('projectId', projectId, ownProject);
    requireSame('location', givenLocation, ownLocation);
    const project = ownProject ?? projectId ?? environment('GOOGLE_CLOUD_PROJECT');
    const location = ownLocation ?? givenLocation ?? environment('GOOGLE_CLOUD_LOCATION');
    if (project === undefined) {
      throw missing('projectId', 'GOOGLE_CLOUD_PROJECT');
    }
    if (location === undefined) {
      throw missing('location', 'GOOGLE_CLOUD_LOCATION');
    }
    requirePart('GOOGLE_CLOUD_PROJECT', project);
    requirePart('GOOGLE_CLOUD_LOCATION', location);
    const engine = `projects/${project}/locations/${location}/reasoningEngines/${id}`;
    return { url: urlOf(baseUrl, location), engine };
  }
}

/** Returns whether the text is an engine's number or full name. */
export function isEngineName(name: string): boolean {
  return ID.test(name) || NAME.test(name);
}

function engineOf(key: string, name: string): Engine {
  if (ID.test(name)) return { id: name, project: undefined, location: undefined };
  const [, project, location, id] = NAME.exec(name) ?? [];
  if (id !== undefined) return { id, project, location };
  throw invalid(
    key,
    'must name an agent engine: its number, or projects/PROJECT/locations/LOCATION/reasoningEngines/NUMBER' +
      (key === 'appName'
        ? '; or give the service an agentEngineId, and call the app what you like'
        : ''),
  );
}

/** Returns the server's URL. The multi-regions `us` and `eu` have hosts of another form. */
function urlOf(baseUrl: string | undefined, location: string | undefined): string {
  if (baseUrl !== undefined) return `${baseUrl.replace(/\/+$/, '')}/${VERSION}`;
  const host =
    location === undefined || location === 'global'
      ? 'aiplatform.googleapis.com'
      : location === 'us' || location === 'eu'
        ? `aiplatform.${location}.rep.googleapis.com`
        : `${location}-aiplatform.googleapis.com`;
  return `https://${host}/${VERSION}`;
}

function isHttp(url: unknown): boolean {
  if (typeof url !== 'string') return false;
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

function requirePart(key: string, part: string): void {
  if (!PART.test(part)) throw invalid(key, 'is no name of one');
}

/** The engine's full name contains the project and location, so a different value in the options is a mistake. */
function requireSame(key: string, given: string | undefined, own: string | undefined): void {
  if (given === undefined || own === undefined || given === own) return;
  throw invalid(key, "is another one than the agent engine's name says");
}

function missing(key: string, variable: string) {
  return invalid(
    key,
    `must be given, in the environment as ${variable}, or in the engine's full name; or an expressModeApiKey`,
  );
}

function keyOfEnvironment(): string | undefined {
  const flag =
    environment('GOOGLE_GENAI_USE_ENTERPRISE') ?? environment('GOOGLE_GENAI_USE_VERTEXAI');
  const isOn = flag !== undefined && ['true', '1'].includes(flag.toLowerCase());
  const isInProject =
    environment('GOOGLE_CLOUD_PROJECT') !== undefined &&
    environment('GOOGLE_CLOUD_LOCATION') !== undefined;
  return isOn && !isInProject ? environment('GOOGLE_API_KEY') : undefined;
}

/**
 * Reads an environment variable. Returns `undefined` if it is empty, or if the environment is missing or not
 * accessible.
 */
function environment(variable: string): string | undefined {
  try {
    const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
    const value = process?.env?.[variable];
    return value === '' ? undefined : value;
  } catch {
    return undefined;
  }
}
