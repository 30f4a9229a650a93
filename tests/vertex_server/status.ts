// The error responses of the API.

const CODES = {
  INVALID_ARGUMENT: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNIMPLEMENTED: 501,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
} as const;

export type Status = keyof typeof CODES;

export class ApiError extends Error {
  readonly code: number;

  constructor(
    readonly status: Status,
    message: string,
  ) {
    super(message);
    this.code = CODES[status];
  }

  get body(): unknown {
    return { error: { code: this.code, message: this.message, status: this.status } };
  }
}

export function invalid(message: string): ApiError {
  return new ApiError('INVALID_ARGUMENT', message);
}

/** @param code one of the API's HTTP codes */
export function statusOf(code: number): Status {
  for (const status of Object.keys(CODES) as Status[]) {
    if (CODES[status] === code) return status;
  }
  throw new Error(`the API has no status for ${code}`);
}
