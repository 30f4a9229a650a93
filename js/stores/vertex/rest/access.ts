/** The credentials of requests: an OAuth token, or the key of express mode. No error shows either. */
import { kindOf, reasonOf } from '../../../values/errors/describe.js';
import { invalid } from '../../../values/errors/invalid.js';
import { SessionError } from '../../../values/errors/errors.js';
import { loadOptional } from '../../../core/wasm/loader/optional_package.js';
import type { Credentials } from '../../http/exchange.js';
import { makeMask } from '../../http/mask.js';

/**
 * An OAuth 2 access token with the scope `https://www.googleapis.com/auth/cloud-platform`, or a function that
 * returns one. The function is called before each request, so it can return a fresh token when the last one
 * has expired.
 */
export type AccessToken = string | (() => string | Promise<string>);

/** Options of an {@link Access}: one of the two, or neither. */
export interface AccessOptions {
  readonly accessToken?: AccessToken | undefined;
  readonly expressModeApiKey?: string | undefined;
}

const AUTH_PACKAGE = 'google-auth-library';
const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

/** The part of `google-auth-library` that is used here. */
interface AuthLibrary {
  GoogleAuth: new (options: { scopes: string }) => {
    getAccessToken(): Promise<string | null | undefined>;
  };
}

/** Provides the credentials of each request. */
export class Access {
  readonly #options: AccessOptions;
  #auth: Promise<InstanceType<AuthLibrary['GoogleAuth']>> | undefined;

  /** @throws SessionError `invalid_argument` */
  constructor(options: AccessOptions) {
    const { accessToken, expressModeApiKey } = options;
    const isToken = typeof accessToken === 'string' && accessToken !== '';
    if (accessToken !== undefined && !isToken && typeof accessToken !== 'function') {
      const actual = accessToken === '' ? 'empty' : kindOf(accessToken);
      throw invalid(
        'accessToken',
        `must be a token or a function that returns one; it is ${actual}`,
      );
    }
    if (accessToken !== undefined && expressModeApiKey !== undefined) {
      throw invalid('accessToken', 'cannot be given together with expressModeApiKey');
    }
    this.#options = options;
  }

  /**
   * @param wereRefused whether the server has refused the last ones
   * @throws SessionError `storage_unavailable` if there are none
   */
  async credentials(wereRefused: boolean): Promise<Credentials> {
    // The library caches a token until it expires; a new instance asks for another one.
    if (wereRefused) this.#auth = undefined;
    const { expressModeApiKey } = this.#options;
    return this.#toCredentials(expressModeApiKey ?? (await this.#getToken()));
  }

  #toCredentials(token: string): Credentials {
    const { expressModeApiKey } = this.#options;
    const secret = token.trim();
    // `fetch` would refuse it with an error that shows the whole secret.
    if (!/^[\x21-\x7e]+$/.test(secret)) {
      throw credentialsUnavailable(
        'The access token or key contains characters that are not printable ASCII',
      );
    }
    return {
      secret,
      headers:
        expressModeApiKey === undefined
          ? { authorization: `Bearer ${secret}` }
          : { 'x-goog-api-key': secret },
      mask: makeMask(secret),
    };
  }

  async #getToken(): Promise<string> {
    const { accessToken } = this.#options;
    if (typeof accessToken === 'string') return accessToken;
    let token: unknown;
    try {
      token = await (accessToken ?? (() => this.#defaultToken()))();
    } catch (cause) {
      if (cause instanceof SessionError) throw cause;
      const advice =
        accessToken === undefined
          ? 'Sign in with: gcloud auth application-default login, or give an accessToken'
          : 'accessToken threw';
      throw credentialsUnavailable(`${advice}: ${reasonOf(cause)}`, cause);
    }
    if (typeof token === 'string' && token !== '') return token;
    throw credentialsUnavailable(
      `accessToken returned no token but ${token === '' ? 'nothing' : kindOf(token)}`,
    );
  }

  /** Gets a token by Application Default Credentials, which refresh it when it expires. */
  async #defaultToken(): Promise<unknown> {
    this.#auth ??= loadAuth().catch((error: unknown) => {
      this.#auth = undefined;
      throw error;
    });
    return (await this.#auth).getAccessToken();
  }
}

async function loadAuth() {
  const library = await loadOptional<AuthLibrary>(AUTH_PACKAGE);
  if (library !== undefined) return new library.GoogleAuth({ scopes: SCOPE });
  throw credentialsUnavailable(
    `Application Default Credentials need a package; run: npm install ${AUTH_PACKAGE}. ` +
      'Or give an accessToken or an expressModeApiKey, as a page must',
  );
}

function credentialsUnavailable(message: string, cause?: unknown): SessionError {
  return new SessionError('storage_unavailable', `${message}.`, { storage: 'vertexai', cause });
}
