// Seeds over Vertex AI's protocol, in which a server of this machine answers.

import { vertexBoundary } from './boundaries/vertex.js';
import { simulateTogether } from './run/seeds.js';

simulateTogether(vertexBoundary.name, () => vertexBoundary, 200);
