// Seeds over Vertex AI's protocol, with a server on this machine.

import { vertexBoundary } from './boundaries/vertex.js';
import { simulateTogether } from './run/seeds.js';

simulateTogether(vertexBoundary.name, () => vertexBoundary, 50);
