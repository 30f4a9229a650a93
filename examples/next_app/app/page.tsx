import { Chat } from './chat';
import { USER } from './sessions';

/** Rendered on the server, which knows the user. */
export default function Page() {
  return <Chat user={USER} />;
}
