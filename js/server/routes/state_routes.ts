import { changeIn, requireRightTo } from '../requests/call_body.js';
import { callOf, type Route, type RouteCall } from '../requests/route.js';
import { STATE_CHANGE } from '../../stores/http/request_bodies.js';

const USER = '/apps/{appName}/users/{userId}';
const APP = '/apps/{appName}';

/** The routes of the states of users and apps, which `adk api_server` does not have. */
export const STATE_ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: `${USER}/state`,
    action: 'getUserState',
    summary: "Returns the user's state. Its keys have no prefix.",
    response: 'State',
    run: ({ service, appName, userId, signal }) =>
      service.getUserState({ appName, userId, signal }),
  },
  {
    method: 'PATCH',
    path: `${USER}/state`,
    action: 'updateState',
    summary:
      "Changes the user's state and the app's, if that is allowed. The keys have their prefixes.",
    body: STATE_CHANGE,
    response: 'Nothing',
    run: updateState,
  },
  {
    method: 'DELETE',
    path: `${USER}/state`,
    action: 'deleteUserState',
    summary: "Deletes the user's state. The sessions stay.",
    response: 'Nothing',
    run: async (call) => {
      requireRightTo(call, 'user');
      const { service, appName, userId } = call;
      await service.deleteUserState({ appName, userId, ...callOf(call) });
      return null;
    },
  },
  {
    method: 'DELETE',
    path: USER,
    action: 'deleteUser',
    summary: "Deletes the user's sessions and state.",
    response: 'Nothing',
    run: async (call) => {
      requireRightTo(call, 'user');
      const { service, appName, userId } = call;
      await service.deleteUser({ appName, userId, ...callOf(call) });
      return null;
    },
  },
  {
    method: 'GET',
    path: `${APP}/state`,
    action: 'getAppState',
    summary: "Returns the app's state. Its keys have no prefix.",
    response: 'State',
    run: ({ service, appName, signal }) => service.getAppState({ appName, signal }),
  },
  {
    method: 'PATCH',
    path: `${APP}/state`,
    action: 'updateState',
    summary: "Changes the app's state. The keys have their prefix.",
    body: STATE_CHANGE,
    response: 'Nothing',
    run: updateState,
  },
  {
    method: 'DELETE',
    path: `${APP}/state`,
    action: 'deleteAppState',
    summary: "Deletes the app's state. Sessions and users stay.",
    response: 'Nothing',
    run: async (call) => {
      requireRightTo(call, 'app');
      await call.service.deleteAppState({ appName: call.appName, ...callOf(call) });
      return null;
    },
  },
];

/** Changes the state of the user in the path, or without one of the app. */
async function updateState(call: RouteCall): Promise<null> {
  const { appName, userId } = call;
  const stateDelta = changeIn(call);
  const owner = userId === '' ? { appName } : { appName, userId };
  await call.service.updateState({ ...owner, stateDelta, ...callOf(call) });
  return null;
}
