/**
 * The one module for every host, served as `/kit/gradwalk.js`: importing it defines `<grad-walk>`, and its default
 * export is an anywidget front end.
 */
import { layOutWith } from "../layout/client";
import { defineElement } from "./element";
import { render } from "./widget";

layOutWith("layout.js", import.meta.url);
defineElement();

export default { render };
