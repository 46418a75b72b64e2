/**
 * The one module for every host, served as `/kit/gradwalk.js`: importing it defines `<grad-walk>`, and its default
 * export is an anywidget front end.
 */
import { defineElement } from "./element";
import { render } from "./widget";

defineElement();

export default { render };
