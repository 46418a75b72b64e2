import "../render/math.css";
import "../render/theme.css";
import "./page.css";
import { mount } from "svelte";
import { prepareLayout } from "../layout/client";
import { useTypesetter } from "../render/math";
import { typeset } from "../render/typesetter";
import App from "./App.svelte";

const target = document.getElementById("page");
if (target === null) throw new Error("index.html has no #page");
useTypesetter(typeset);
mount(App, { target });
prepareLayout();
