// More seeds over Vertex AI's protocol than those of `npm test`. SOAK_SERVER_SEEDS=100 runs fewer.

import { vertexBoundary } from '../simulation/boundaries/vertex.js';
import { simulateTogether } from '../simulation/run/seeds.js';

const FIRST = 1_000_000;
const SEEDS = Number(process.env.SOAK_SERVER_SEEDS ?? 2000);

simulateTogether(vertexBoundary.name, () => vertexBoundary, SEEDS, FIRST);
