/**
 * The Node that is installed on this machine, on which npm and the packages of customers run. Scripts of npm run on the
 * one of this project (docs/adr/0050-npm-scripts-run-on-the-projects-node.md).
 */
export const MACHINE_NODE = process.env.npm_node_execpath ?? process.execPath;
