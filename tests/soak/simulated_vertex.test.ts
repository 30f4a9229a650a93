// Seeds over Vertex AI's protocol, of which a loopback server answers. Time is real there.

import { vertexBoundary } from '../simulation/boundaries/vertex.js';
import { simulateTogether } from '../simulation/run/seeds.js';

simulateTogether(vertexBoundary.name, () => vertexBoundary, 200);
