/**
 * What a client may send to a server, in every protocol version from 2024-11-05 to 2026-07-28 and its extensions.
 * A method that is not here is not forwarded: the server might run a tool behind a name that nobody gated (A85).
 */
const REQUESTS: ReadonlySet<string> = new Set([
  // 2024-11-05, 2025-03-26, 2025-06-18
  "initialize",
  "ping",
  "tools/list",
  "tools/call",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "prompts/list",
  "prompts/get",
  "completion/complete",
  "logging/setLevel",
  // 2025-11-25. A task begins with a tools/call, which is gated.
  "tasks/get",
  "tasks/result",
  "tasks/list",
  "tasks/cancel",
  // 2026-07-28
  "server/discover",
  "subscriptions/listen",
  // The extensions Tasks and Skills
  "tasks/update",
  "resources/directory/read",
]);

const NOTIFICATIONS: ReadonlySet<string> = new Set([
  "notifications/initialized",
  "notifications/cancelled",
  "notifications/progress",
  "notifications/roots/list_changed",
  "notifications/tasks/status",
]);

export const isKnownRequest = (method: string): boolean => REQUESTS.has(method);
export const isKnownNotification = (method: string): boolean => NOTIFICATIONS.has(method);
