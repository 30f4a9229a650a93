/** The owner of all sessions. */
export const user = { appName: 'bench', userId: 'user' };
