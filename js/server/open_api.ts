import type { Route } from './requests/route.js';
import { OBJECT, ref, TEXT, WHOLE } from '../stores/http/schema.js';
import { type ResponseName, SCHEMAS } from './requests/schemas.js';
import {
  CREATED_HEADER,
  PROTOCOL_HEADER,
  PROTOCOL_VERSION,
  REVISION_HEADER,
} from '../stores/http/protocol.js';

/** What the statuses of errors mean. */
const ERROR_STATUSES: Readonly<Record<string, string>> = {
  400: 'The request is wrong.',
  401: 'The request does not tell who sends it.',
  403: 'This is not allowed.',
  404: 'There is no such session or file, or the server keeps no files.',
  409: 'The session exists already, has changed, or an agent runs in it.',
  410: 'A cache must forget what it has of its owner.',
  413: 'The body is too large.',
  500: 'The server failed.',
  503: 'The sessions cannot be reached now, or too many agents run (the code `too_many_runs`).',
};

/** Makes the OpenAPI document of the routes. */
export function openApiDocument(routes: readonly Route[], basePath: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = (paths[route.path] ??= {});
    path[route.method.toLowerCase()] = operationOf(route);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Sessions', version: PROTOCOL_VERSION },
    servers: [{ url: basePath === '' ? '/' : basePath }],
    paths,
    components: { schemas: SCHEMAS },
  };
}

function operationOf({ action, method, path, summary, query = {}, body, response }: Route): object {
  const isStream = response === 'Notices' || response === 'AdkRunEvents';
  const content = isStream ? 'text/event-stream' : 'application/json';
  const errors = Object.entries(ERROR_STATUSES).map(([status, description]): [string, object] => [
    status,
    { description, content: { 'application/json': { schema: ref('Error') } } },
  ]);
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => {
    return { name, in: 'path', required: true, schema: TEXT };
  });
  const inQuery = Object.entries(query).map(([name, { schema }]) => {
    return { name, in: 'query', schema };
  });
  return {
    summary,
    operationId: `${method.toLowerCase()} ${path} ${action}`,
    parameters: [...inPath, ...inQuery],
    ...(body !== undefined && {
      requestBody: {
        content:
          body === 'bytes'
            ? { '*/*': {} }
            : {
                'application/json': {
                  schema: body === 'any' ? OBJECT : { ...body, additionalProperties: false },
                },
              },
      },
    }),
    responses: {
      200: {
        description: 'Done.',
        headers: headersOf(response),
        content: { [content]: { schema: ref(response) } },
      },
      ...Object.fromEntries(errors),
    },
  };
}

function headersOf(response: ResponseName): object {
  const schemas = {
    [PROTOCOL_HEADER]: TEXT,
    ...(['AdkSession', 'Session', 'SessionInfo'].includes(response) && {
      [CREATED_HEADER]: WHOLE,
      [REVISION_HEADER]: WHOLE,
    }),
  };
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, { schema }]));
}
