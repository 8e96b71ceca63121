package com.acme.shop;

import static org.springframework.security.config.Customizer.withDefaults;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpMethod;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;

/** Who may do what with the actuator; docs/endpoint.md shows the chain. */
@Configuration(proxyBeanMethods = false)
class ActuatorSecurity {

    @Bean
    @Order(1) // before the chain of the application itself
    SecurityFilterChain actuator(HttpSecurity http) throws Exception {
        return http.securityMatcher("/actuator/**")
                .authorizeHttpRequests(requests -> {
                    requests.requestMatchers("/actuator/health/**").permitAll();
                    requests.requestMatchers(HttpMethod.GET).hasAnyRole("MONITOR", "OPERATOR");
                    requests.anyRequest().hasRole("OPERATOR");
                })
                .httpBasic(withDefaults())
                .csrf(csrf -> csrf.ignoringRequestMatchers("/actuator/virtualthreads/*"))
                .build();
    }

    @Bean
    UserDetailsService users() {
        return new InMemoryUserDetailsManager(
                User.withUsername("alice")
                        .password("{noop}secret")
                        .roles("MONITOR")
                        .build(),
                User.withUsername("operator")
                        .password("{noop}secret")
                        .roles("OPERATOR")
                        .build());
    }
}
