import { findArtifacts } from '../../../core/core_of.js';
import type { GivenService } from '../../../core/call/given_service.js';
import type { ArtifactVersion } from '../../../values/model/artifact.js';
import { isPicture } from '../../../values/model/values/media_type.js';
import type { CompositeSessionKey } from '../../../values/model/session.js';
import type { SessionService } from '../../../values/model/session_service.js';
import { LOADING_ARTIFACT, showArtifact } from '../../live/show_artifact.js';
import { useReading } from '../view/hooks.js';
import { Button, ErrorNote, Items, Name } from '../view/parts.js';
import { useEffect, useState, type VNode } from '../view/preact.js';
import { bytesText, timeText } from '../view/text.js';

/** Whose files are shown. */
interface FileListProps {
  readonly service: GivenService<SessionService>;
  readonly keyOfSession: CompositeSessionKey;
  /** A change reads the files again: an event tells of most of them. */
  readonly lastUpdateTime: number | undefined;
}

interface FileProps extends FileListProps {
  readonly filename: string;
}

/** The files of a session and of its user; nothing over a service without files. */
export function FileList(props: FileListProps): VNode | null {
  const { service, keyOfSession, lastUpdateTime } = props;
  const { appName, userId, sessionId } = keyOfSession;
  const { value: names = [], error } = useReading(
    async () => findArtifacts(await service)?.listArtifactKeys(keyOfSession) ?? [],
    [service, appName, userId, sessionId, lastUpdateTime],
  );
  if (names.length === 0) return <ErrorNote error={error} />;
  return (
    <section aria-label="Files">
      <h3>Files</h3>
      <Items<string> items={names}>
        {(filename) => (
          <li key={filename}>
            <FileVersions {...props} filename={filename} />
          </li>
        )}
      </Items>
      <ErrorNote error={error} />
    </section>
  );
}

function FileVersions(props: FileProps): VNode {
  const { service, keyOfSession, filename, lastUpdateTime } = props;
  const [isExpanded, setExpanded] = useState(false);
  const { value: versions = [], error } = useReading(
    async () =>
      isExpanded
        ? (findArtifacts(await service)?.listArtifactVersions({ ...keyOfSession, filename }) ?? [])
        : [],
    [service, keyOfSession, filename, isExpanded, lastUpdateTime],
  );
  return (
    <>
      <div class="row">
        <Name name={filename} />
        <Button
          label="Versions"
          spoken={`Versions of ${filename}`}
          isExpanded={isExpanded}
          onClick={() => setExpanded(!isExpanded)}
        />
      </div>
      {[...versions].reverse().map((version) => (
        <FileVersion key={version.version} {...props} version={version} />
      ))}
      <ErrorNote error={error} />
    </>
  );
}

function FileVersion(props: FileProps & { version: ArtifactVersion }): VNode {
  const { version, mimeType = '', size, createTime, author } = props.version;
  const [isOpen, setOpen] = useState(false);
  const facts = [
    ...[`Version ${version}`, mimeType, size !== undefined && bytesText(size)],
    ...[createTime !== undefined && timeText(createTime), author],
  ];
  return (
    <div class="part">
      <div class="row">
        <span class="muted">{facts.filter((fact) => typeof fact === 'string').join(', ')}</span>
        <Button
          label={isOpen ? 'Close' : 'Open'}
          spoken={`${isOpen ? 'Close' : 'Open'} version ${version} of ${props.filename}`}
          isExpanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        />
      </div>
      {isOpen && <OpenFile {...props} />}
    </div>
  );
}

/** A picture, or a link that saves the file. */
function OpenFile(props: FileProps & { version: ArtifactVersion }): VNode {
  const { service, keyOfSession, filename, version } = props;
  const [{ url, error }, show] = useState(LOADING_ARTIFACT);
  useEffect(
    () => showArtifact(service, { ...keyOfSession, filename, version: version.version }, show),
    [service, keyOfSession, filename, version.version],
  );
  if (error !== undefined) return <ErrorNote error={error} />;
  if (url === undefined) return <p role="status">Opening…</p>;
  return (
    <div>
      {isPicture(version.mimeType) && <img src={url} alt={filename} style="max-width: 100%" />}
      <a href={url} download={filename.split(/[/:]/).at(-1)}>
        Save
      </a>
    </div>
  );
}
