// What is the same to Python.

type JsonObject = Record<string, unknown>;

/** What Python adds to an element of these. */
const DEFAULTS: Readonly<Record<string, JsonObject>> = {
  requested_tool_confirmations: { hint: '', confirmed: false },
  requestedToolConfirmations: { hint: '', confirmed: false },
  render_ui_widgets: { payload: {} },
  renderUiWidgets: { payload: {} },
};

/**
 * Equal if Python has both as the same: its bytes are base64 for URLs, its sets sorted, and its auth
 * configs, which are data to us, in snake_case and with a key of their own.
 */
export function forPython(value: unknown, name = ''): unknown {
  if (typeof value === 'string') {
    return BYTES.has(name) ? Buffer.from(value, 'base64').toString('base64') : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (AUTH_CONFIGS.has(name)) return Object.keys(value).sort();
  const entries = Object.entries({ ...value }).map(([key, member]): [string, unknown] => {
    const whole = name in DEFAULTS ? { ...DEFAULTS[name], ...(member as object) } : member;
    return [key, forPython(whole, key)];
  });
  if (!Array.isArray(value)) return Object.fromEntries(entries);
  const items = entries.map(([, item]) => item);
  return SETS.has(name) ? [...new Set(items)].sort() : items;
}

const BYTES = new Set(['data', 'thought_signature', 'thoughtSignature', 'sdk_blob', 'sdkBlob']);
const AUTH_CONFIGS = new Set(['requested_auth_configs', 'requestedAuthConfigs']);
const SETS = new Set(['long_running_tool_ids', 'longRunningToolIds']);
