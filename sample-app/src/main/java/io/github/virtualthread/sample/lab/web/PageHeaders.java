package io.github.virtualthread.sample.lab.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** The page loads what this application serves, and nothing else. */
@Configuration(proxyBeanMethods = false)
class PageHeaders implements WebMvcConfigurer, HandlerInterceptor {

    private static final String POLICY =
            "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'";

    @Override
    public void addInterceptors(InterceptorRegistry registry) {
        // where / is forwarded to
        registry.addInterceptor(this).addPathPatterns("/index.html");
    }

    @Override
    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
        response.setHeader("Content-Security-Policy", POLICY);
        return true;
    }
}
