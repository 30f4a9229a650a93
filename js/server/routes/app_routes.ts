import { HttpRefusal } from '../http/responses.js';
import { FLAG, TEXT } from '../requests/parameters.js';
import { type Route, type RouteCall, routeWithQuery } from '../requests/route.js';

/** The routes by which clients of `adk api_server` find the apps. They tell names, and nothing of the agents. */
export const APP_ROUTES: readonly Route[] = [
  routeWithQuery({
    method: 'GET',
    path: '/list-apps',
    action: 'listApps',
    summary: 'Lists the apps that the client may know.',
    // adk-web sends a path, which `adk api_server` does not read either.
    query: { detailed: FLAG, relative_path: TEXT },
    response: 'Apps',
    asksForEachApp: true,
    run: async (call) => {
      const names = [];
      for (const appName of appsOf(call)) if (await isAllowed(call, appName)) names.push(appName);
      return call.query.detailed === true ? { apps: names.map(infoOf) } : names;
    },
  }),
  {
    method: 'GET',
    path: '/apps/{appName}/app-info',
    action: 'listApps',
    summary: 'Returns the name of an app.',
    response: 'App',
    run: async (call) => {
      if (appsOf(call).includes(call.appName)) return Promise.resolve(infoOf(call.appName));
      throw new HttpRefusal(404, 'App not found');
    },
  },
];

function appsOf({ apps }: RouteCall): readonly string[] {
  if (apps !== undefined) return apps;
  throw new HttpRefusal(404, 'Not Found');
}

async function isAllowed({ requireAccess }: RouteCall, appName: string): Promise<boolean> {
  try {
    await requireAccess({ action: 'listApps', appName });
    return true;
  } catch (error) {
    if (error instanceof HttpRefusal && error.status === 403) return false;
    throw error;
  }
}

function infoOf(name: string): object {
  const language = 'typescript';
  return { name, rootAgentName: name, description: '', language, isComputerUse: false, agents: {} };
}
