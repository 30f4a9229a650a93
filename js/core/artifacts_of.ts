/** The files of a service, whoever made it: each place that needs them finds them here. */
import { SessionError } from '../values/errors/errors.js';
import type { ArtifactService } from '../values/model/artifact.js';
import { coreOf } from './core_of.js';

/** The core of a service of this package, as far as files need it. */
interface FilesOfCore {
  readonly artifacts?: { readonly service: Required<ArtifactService> };
}

/** Returns the files of a service, or of the service that it wraps; `undefined` without the option `artifacts`. */
export function findArtifacts(service: object): Required<ArtifactService> | undefined {
  const core = coreOf(service) as FilesOfCore | undefined;
  if (core !== undefined) return core.artifacts?.service;
  return (service as { readonly artifacts?: Required<ArtifactService> }).artifacts;
}

/** Returns the files of a service. @throws SessionError `artifact_service_missing` */
export function requireArtifacts(service: object): Required<ArtifactService> {
  const artifacts = findArtifacts(service);
  if (artifacts !== undefined) return artifacts;
  const message = 'This service keeps no files; give it the option artifacts.';
  throw new SessionError('artifact_service_missing', message);
}
