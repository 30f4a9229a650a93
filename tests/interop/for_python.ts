// Equality of events in Python.

type JsonObject = Record<string, unknown>;

/** The fields that Python adds to an element of these lists. */
const DEFAULTS: Readonly<Record<string, JsonObject>> = {
  requested_tool_confirmations: { hint: '', confirmed: false },
  requestedToolConfirmations: { hint: '', confirmed: false },
  render_ui_widgets: { payload: {} },
  renderUiWidgets: { payload: {} },
};

/**
 * Converts a value to a form in which events that are equal in Python are equal. Bytes become base64 for URLs, and sets
 * are sorted. Auth configs, which the package treats as data, become snake_case with an additional key.
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
