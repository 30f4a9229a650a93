// Appends of one key to states of 10 to 160,000 keys in SQL databases, compared with the engines' JSON functions.

export { largeStates as default } from '../database/large_state.mjs';
