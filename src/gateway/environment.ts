/**
 * What a server may see of our environment: everything but our own. A token or an address of the desk in a server's hands
 * would let the gated side speak to the desk.
 */
export function serverEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.toUpperCase().startsWith("HOLDPOINT_")));
}
