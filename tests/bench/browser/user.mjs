/** Whose sessions all of them are. */
export const user = { appName: 'bench', userId: 'user' };
