import { vertexBoundary } from './boundaries/vertex.js';
import { simulateTogether } from './run/seeds.js';

simulateTogether(vertexBoundary.name, () => vertexBoundary, 200);
